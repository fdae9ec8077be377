/* Peterson's algorithm for N threads (the filter lock): N - 1 levels, at each of which one thread waits.
   Source: G. L. Peterson, "Myths about the mutual exclusion problem" (1981).
   Written for scripts/bench-explore: spin -DN=4 -a peterson.pml */

#ifndef N
#define N 4
#endif

byte level[N];
byte last[N];

active [N] proctype P() {
  byte at, k;
  do
  :: at = 1;
     do
     :: at < N ->
        level[_pid] = at;
        last[at] = _pid;
        k = 0;
        do
        :: k < N ->
           do
           :: k == _pid || level[k] < at || last[at] != _pid -> break
           od;
           k++
        :: else -> break
        od;
        at++
     :: else -> break
     od;
     /* critical section */
     level[_pid] = 0
  od
}

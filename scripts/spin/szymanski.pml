/* Szymanski's algorithm for N threads: a waiting room with two doors.
   Source: B. K. Szymanski, "A simple solution to Lamport's concurrent programming problem with linear wait" (1988).
   Written for scripts/bench-explore: spin -DN=4 -a szymanski.pml */

#ifndef N
#define N 4
#endif

byte flag[N];

active [N] proctype P() {
  byte j;
  do
  :: flag[_pid] = 1;
     /* the entry door is open */
     j = 0;
     do
     :: j < N && flag[j] < 3 -> j++
     :: j == N -> break
     od;
     flag[_pid] = 3;
     /* is somebody still outside? */
     j = 0;
     do
     :: j < N && flag[j] != 1 -> j++
     :: j < N && flag[j] == 1 -> break
     :: j == N -> break
     od;
     if
     :: j < N ->
        flag[_pid] = 2;
        /* the exit door opens */
        j = 0;
        do
        :: flag[j] == 4 -> break
        :: flag[j] != 4 -> j = (j + 1) % N
        od
     :: else
     fi;
     flag[_pid] = 4;
     /* those behind us wait */
     j = 0;
     do
     :: j < _pid && flag[j] < 2 -> j++
     :: j == _pid -> break
     od;
     /* critical section; those before us leave first */
     j = _pid + 1;
     do
     :: j < N && (flag[j] < 2 || flag[j] > 3) -> j++
     :: j >= N -> break
     od;
     flag[_pid] = 0
  od
}

/* Anderson's queue lock for N threads: each takes a ticket and waits until its slot in a ring is free.
   Source: T. E. Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors" (1990).
   Written for scripts/bench-explore: spin -DN=5 -a anderson.pml */

#ifndef N
#define N 5
#endif

byte slot[N];
byte next;

proctype P() {
  byte place;
  do
  :: d_step { place = next; next = next + 1 };
     if
     :: d_step { place == N - 1 -> next = next - N }
     :: d_step { place != N - 1 -> place = place % N }
     fi;
     slot[place] == 1;
     slot[place] = 0;
     /* critical section */
     slot[(place + 1) % N] = 1
  od
}

init {
  byte started;
  atomic {
    slot[0] = 1;
    do
    :: started < N -> run P(); started++
    :: else -> break
    od
  }
}

/* Peterson's algorithm for two threads, statement by statement as in specs/peterson.slco.
   Source: G. L. Peterson, "Myths about the mutual exclusion problem" (1981). */

bool wants[2];
byte turn;

active proctype P0() {
  do
  :: wants[0] = true;
     turn = 1;
     if
     :: !wants[1]
     :: turn == 0
     fi;
     wants[0] = false
  od
}

active proctype P1() {
  do
  :: wants[1] = true;
     turn = 0;
     if
     :: !wants[0]
     :: turn == 1
     fi;
     wants[1] = false
  od
}

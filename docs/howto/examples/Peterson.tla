------------------------------ MODULE Peterson ------------------------------
(* Peterson's algorithm for two threads, action by action as in specs/peterson.slco.
   Source: G. L. Peterson, "Myths about the mutual exclusion problem" (1981). *)
EXTENDS Naturals
VARIABLES wants0, wants1, turn, at0, at1

Init == wants0 = FALSE /\ wants1 = FALSE /\ turn = 0 /\ at0 = "NCS" /\ at1 = "NCS"

want0 == at0 = "NCS" /\ wants0' = TRUE /\ at0' = "polite" /\ UNCHANGED <<wants1, turn, at1>>
yield0 == at0 = "polite" /\ turn' = 1 /\ at0' = "wait" /\ UNCHANGED <<wants0, wants1, at1>>
free0 == at0 = "wait" /\ ~wants1 /\ at0' = "CS" /\ UNCHANGED <<wants0, wants1, turn, at1>>
mine0 == at0 = "wait" /\ turn = 0 /\ at0' = "CS" /\ UNCHANGED <<wants0, wants1, turn, at1>>
leave0 == at0 = "CS" /\ wants0' = FALSE /\ at0' = "NCS" /\ UNCHANGED <<wants1, turn, at1>>

want1 == at1 = "NCS" /\ wants1' = TRUE /\ at1' = "polite" /\ UNCHANGED <<wants0, turn, at0>>
yield1 == at1 = "polite" /\ turn' = 0 /\ at1' = "wait" /\ UNCHANGED <<wants0, wants1, at0>>
free1 == at1 = "wait" /\ ~wants0 /\ at1' = "CS" /\ UNCHANGED <<wants0, wants1, turn, at0>>
mine1 == at1 = "wait" /\ turn = 1 /\ at1' = "CS" /\ UNCHANGED <<wants0, wants1, turn, at0>>
leave1 == at1 = "CS" /\ wants1' = FALSE /\ at1' = "NCS" /\ UNCHANGED <<wants0, turn, at0>>

Next == want0 \/ yield0 \/ free0 \/ mine0 \/ leave0 \/ want1 \/ yield1 \/ free1 \/ mine1 \/ leave1
==============================================================================

//! The strong index types: one definition each, 32 bits, never a bare `usize` across a module boundary.

/// Defines index types over dense tables.
macro_rules! index_types {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The index of row `position` of its table.
            ///
            /// # Panics
            /// If the table has more than 2^32 rows; every reader of input refuses such tables before.
            #[must_use]
            pub fn new(position: usize) -> Self {
                Self(u32::try_from(position).expect("tables are bounded to 2^32 rows when they are built"))
            }

            /// The position in its table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index_types! {
    /// A thread of the program.
    ThreadId;
    /// A static instruction: (thread, position in the model).
    InstrId;
    /// A control state of a thread; numbered over all threads.
    ControlId;
    /// A shared memory location, array elements one by one.
    LocationId;
    /// A thread-local variable; numbered within its thread.
    LocalId;
    /// A distinct transition label.
    LabelId;
    /// A vertex of the abstract event graph: (thread, instruction, kind, location).
    VertexId;
    /// A state of the state space, numbered densely by the reader.
    StateId;
}

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
            #[inline]
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The indices of all rows of a table that has so many.
            pub fn all(rows: usize) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..Self::new(rows).0).map(Self)
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
}

// Numbers are in the order of names, these are in the order of the text: what ends in `Id` and what ends in `At` are
// joined by the outline alone.
index_types! {
    /// A thread's position in `Program::threads`, and in every table that has a row for each of them.
    ThreadAt;
    /// An instruction's position in the `Thread::instructions` of its thread.
    InstrAt;
    /// A control state's position in the `Thread::states` of its thread.
    ControlAt;
    /// The position in the shared memory of a variable or an element: of all that are shared, in their order.
    LocationAt;
    /// A position in the values that compiled expressions are evaluated over: in those of all variables of a program,
    /// where the shared memory comes first, or in a frame.
    Slot;
}

impl LocationAt {
    /// Its slot among all variables of the program.
    #[inline]
    #[must_use]
    pub fn slot(self) -> Slot {
        Slot(self.0)
    }
}

impl Slot {
    /// The location of a slot among all variables of a program that has so many of them; none if it is a local's.
    #[inline]
    #[must_use]
    pub fn location(self, locations: usize) -> Option<LocationAt> {
        (self.index() < locations).then_some(LocationAt(self.0))
    }

    /// The slot that is so many further on.
    #[inline]
    #[must_use]
    pub fn plus(self, further: usize) -> Slot {
        Slot::new(self.index() + further)
    }

    /// So many slots from this one on.
    #[inline]
    pub fn run(self, length: usize) -> impl Iterator<Item = Slot> + use<> {
        (self.0..self.plus(length).0).map(Slot)
    }
}

# libanyshape.so: every folder's objects, hidden symbols, dependencies' symbols kept inside.

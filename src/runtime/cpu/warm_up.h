// oneDNN generates the code of all its products at the first of them: some 30 ms on one thread, more than all else that a first step of a small
// network takes when its kernels come from disk.
#pragma once

namespace anyshape::runtime {

// Has it done by a thread of its own, once in a process: call it as soon as products are likely. A product that comes earlier waits for the code.
// Nothing on a machine of one processor, where nobody would gain.
void start_warming_up_products();

}  // namespace anyshape::runtime

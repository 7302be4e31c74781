"""How each known layer is bound to the kernels; one layer a file."""

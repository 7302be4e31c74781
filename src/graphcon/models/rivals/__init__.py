"""The models that GraphCON is compared with, one file each: the core, its formula, its paper and its card."""

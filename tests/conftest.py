import torch

# On graphs of ten nodes threads gain nothing, and beside other test processes they wait for each other.
torch.set_num_threads(1)

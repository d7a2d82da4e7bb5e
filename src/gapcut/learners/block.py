class Block: pass

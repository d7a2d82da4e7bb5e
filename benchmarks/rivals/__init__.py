"""What a reader could use in place of gapcut, one file a rival. Each says why it cannot run where it
cannot.
"""

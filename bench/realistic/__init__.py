"""Tasks as users bring them: failures, penalties, plateaus, noise; the default beside other optimizers."""

package pass

func setSabotage() {}

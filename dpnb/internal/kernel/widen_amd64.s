#include "textflag.h"

// func widen8(dst *float64, raw *byte, groups int)
TEXT ·widen8(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ raw+8(FP), SI
	MOVQ groups+16(FP), CX

widenGroup:
	VCVTPS2PD (SI), Y0
	VCVTPS2PD 16(SI), Y1
	VMOVUPD   Y0, (DI)
	VMOVUPD   Y1, 32(DI)
	ADDQ      $32, SI
	ADDQ      $64, DI
	DECQ      CX
	JNZ       widenGroup
	VZEROUPPER
	RET

#include "textflag.h"

// func addRounded4(dst, x, w *float64, stride, by, groups int, m float64)
TEXT ·addRounded4(SB), NOSPLIT, $0-56
	MOVQ         dst+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         w+16(FP), DX
	MOVQ         stride+24(FP), R9
	MOVQ         by+32(FP), R8
	MOVQ         groups+40(FP), CX
	VBROADCASTSD m+48(FP), Y12
	SHLQ         $3, R9
	SHLQ         $3, R8
	LEAQ         (SI)(R9*1), R10
	LEAQ         (SI)(R9*2), R11
	LEAQ         (R10)(R9*2), R12
	VBROADCASTSD (DX), Y4
	VBROADCASTSD (DX)(R8*2), Y6
	ADDQ         R8, DX
	VBROADCASTSD (DX), Y5
	VBROADCASTSD (DX)(R8*2), Y7
	XORQ         AX, AX

	// Products are rounded before m is added: no fused multiplication.
rounded4:
	VMULPD  (SI)(AX*8), Y4, Y0
	VMULPD  (R10)(AX*8), Y5, Y1
	VMULPD  (R11)(AX*8), Y6, Y2
	VMULPD  (R12)(AX*8), Y7, Y3
	VADDPD  Y12, Y0, Y0
	VADDPD  Y12, Y1, Y1
	VADDPD  Y12, Y2, Y2
	VADDPD  Y12, Y3, Y3
	VSUBPD  Y12, Y0, Y0
	VSUBPD  Y12, Y1, Y1
	VSUBPD  Y12, Y2, Y2
	VSUBPD  Y12, Y3, Y3
	VADDPD  Y1, Y0, Y0
	VADDPD  Y3, Y2, Y2
	VADDPD  Y2, Y0, Y0
	VADDPD  (DI)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ    $4, AX
	DECQ    CX
	JNZ     rounded4
	VZEROUPPER
	RET

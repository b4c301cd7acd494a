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

// func dotsWide4(dst *float64, raw *byte, theta *float64, groups, d int)
//
// As dots4, of rows of float32: the same operations in the same order.
TEXT ·dotsWide4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ raw+8(FP), SI
	MOVQ theta+16(FP), DX
	MOVQ groups+24(FP), CX
	MOVQ d+32(FP), BX
	MOVQ BX, R9
	SHLQ $2, R9
	MOVQ BX, R13
	ANDQ $~7, R13
	MOVQ BX, R14
	ANDQ $~3, R14

wideDotsGroup:
	LEAQ   (SI)(R9*1), R10
	LEAQ   (SI)(R9*2), R11
	LEAQ   (R10)(R9*2), R12
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	XORQ   AX, AX

wideDots8:
	CMPQ        AX, R13
	JGE         wideDotsHalf
	VMOVUPD     (DX)(AX*8), Y8
	VMOVUPD     32(DX)(AX*8), Y9
	VCVTPS2PD   (SI)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y0
	VCVTPS2PD   (R10)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y1
	VCVTPS2PD   (R11)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y2
	VCVTPS2PD   (R12)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y3
	VCVTPS2PD   16(SI)(AX*4), Y10
	VFMADD231PD Y10, Y9, Y4
	VCVTPS2PD   16(R10)(AX*4), Y10
	VFMADD231PD Y10, Y9, Y5
	VCVTPS2PD   16(R11)(AX*4), Y10
	VFMADD231PD Y10, Y9, Y6
	VCVTPS2PD   16(R12)(AX*4), Y10
	VFMADD231PD Y10, Y9, Y7
	ADDQ        $8, AX
	JMP         wideDots8

wideDotsHalf:
	CMPQ        AX, R14
	JGE         wideDotsTail
	VMOVUPD     (DX)(AX*8), Y8
	VCVTPS2PD   (SI)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y0
	VCVTPS2PD   (R10)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y1
	VCVTPS2PD   (R11)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y2
	VCVTPS2PD   (R12)(AX*4), Y10
	VFMADD231PD Y10, Y8, Y3
	ADDQ        $4, AX

	// One column at a time; a scalar load clears the other lanes.
wideDotsTail:
	CMPQ        AX, BX
	JGE         wideDotsSum
	VMOVSD      (DX)(AX*8), X8
	VMOVSS      (SI)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231PD Y9, Y8, Y4
	VMOVSS      (R10)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231PD Y9, Y8, Y5
	VMOVSS      (R11)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231PD Y9, Y8, Y6
	VMOVSS      (R12)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231PD Y9, Y8, Y7
	INCQ        AX
	JMP         wideDotsTail

wideDotsSum:
	VADDPD     Y4, Y0, Y0
	VADDPD     Y5, Y1, Y1
	VADDPD     Y6, Y2, Y2
	VADDPD     Y7, Y3, Y3
	VHADDPD    Y1, Y0, Y0
	VHADDPD    Y3, Y2, Y2
	VPERM2F128 $0x21, Y2, Y0, Y4
	VBLENDPD   $0xC, Y2, Y0, Y0
	VADDPD     Y4, Y0, Y0
	VMOVUPD    Y0, (DI)
	ADDQ       $32, DI
	LEAQ       (SI)(R9*4), SI
	DECQ       CX
	JNZ        wideDotsGroup
	VZEROUPPER
	RET

// func axpysWide4(dst *float64, raw *byte, w *float64, groups, d int)
//
// As axpys4, of rows of float32: the same operations in the same order.
TEXT ·axpysWide4(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ raw+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ groups+24(FP), CX
	MOVQ d+32(FP), BX
	MOVQ BX, R9
	SHLQ $2, R9
	MOVQ BX, R13
	ANDQ $~7, R13
	MOVQ BX, R14
	ANDQ $~3, R14

wideAxpyGroup:
	LEAQ         (SI)(R9*1), R10
	LEAQ         (SI)(R9*2), R11
	LEAQ         (R10)(R9*2), R12
	VBROADCASTSD (DX), Y4
	VBROADCASTSD 8(DX), Y5
	VBROADCASTSD 16(DX), Y6
	VBROADCASTSD 24(DX), Y7
	XORQ         AX, AX

wideAxpy8:
	CMPQ        AX, R13
	JGE         wideAxpyHalf
	VMOVUPD     (DI)(AX*8), Y0
	VMOVUPD     32(DI)(AX*8), Y1
	VCVTPS2PD   (SI)(AX*4), Y10
	VFMADD231PD Y10, Y4, Y0
	VCVTPS2PD   16(SI)(AX*4), Y10
	VFMADD231PD Y10, Y4, Y1
	VCVTPS2PD   (R10)(AX*4), Y10
	VFMADD231PD Y10, Y5, Y0
	VCVTPS2PD   16(R10)(AX*4), Y10
	VFMADD231PD Y10, Y5, Y1
	VCVTPS2PD   (R11)(AX*4), Y10
	VFMADD231PD Y10, Y6, Y0
	VCVTPS2PD   16(R11)(AX*4), Y10
	VFMADD231PD Y10, Y6, Y1
	VCVTPS2PD   (R12)(AX*4), Y10
	VFMADD231PD Y10, Y7, Y0
	VCVTPS2PD   16(R12)(AX*4), Y10
	VFMADD231PD Y10, Y7, Y1
	VMOVUPD     Y0, (DI)(AX*8)
	VMOVUPD     Y1, 32(DI)(AX*8)
	ADDQ        $8, AX
	JMP         wideAxpy8

wideAxpyHalf:
	CMPQ        AX, R14
	JGE         wideAxpyTail
	VMOVUPD     (DI)(AX*8), Y0
	VCVTPS2PD   (SI)(AX*4), Y10
	VFMADD231PD Y10, Y4, Y0
	VCVTPS2PD   (R10)(AX*4), Y10
	VFMADD231PD Y10, Y5, Y0
	VCVTPS2PD   (R11)(AX*4), Y10
	VFMADD231PD Y10, Y6, Y0
	VCVTPS2PD   (R12)(AX*4), Y10
	VFMADD231PD Y10, Y7, Y0
	VMOVUPD     Y0, (DI)(AX*8)
	ADDQ        $4, AX

wideAxpyTail:
	CMPQ        AX, BX
	JGE         wideAxpyNext
	VMOVSD      (DI)(AX*8), X0
	VMOVSS      (SI)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231SD X9, X4, X0
	VMOVSS      (R10)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231SD X9, X5, X0
	VMOVSS      (R11)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231SD X9, X6, X0
	VMOVSS      (R12)(AX*4), X9
	VCVTPS2PD   X9, X9
	VFMADD231SD X9, X7, X0
	VMOVSD      X0, (DI)(AX*8)
	INCQ        AX
	JMP         wideAxpyTail

wideAxpyNext:
	ADDQ $32, DX
	LEAQ (SI)(R9*4), SI
	DECQ CX
	JNZ  wideAxpyGroup
	VZEROUPPER
	RET

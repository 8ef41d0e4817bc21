/**
 * System calls that packages can do without and that a sandbox does not limit: memory charged to no
 * folder and no process, and the keyring of the account that started us. The numbers are those of
 * x86-64 and of the table that newer architectures share.
 */
const REFUSED_CALLS = {
  x64: { arch: 0xc000003e, numbers: { memfd_create: 319, memfd_secret: 447, shmget: 29 } },
  arm64: { arch: 0xc00000b7, numbers: { memfd_create: 279, memfd_secret: 447, shmget: 194 } },
}
const KEY_CALLS = { x64: [248, 249, 250], arm64: [217, 218, 219] }

/** Opcodes of classic BPF (linux/bpf_common.h), and a filter's return values (linux/seccomp.h). */
const LOAD = 0x20
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_AT_LEAST = 0x35
const RETURN = 0x06
const ALLOW = 0x7fff0000
const ENOSYS = 0x00050026
const OFFSET = { number: 0, arch: 4 }
/** Calls of the 32-bit ABI on x86-64 have this bit set. */
const X32_BIT = 0x40000000

/**
 * The filter for bubblewrap (`--seccomp`): refused calls return ENOSYS.
 *
 * @returns null on an architecture whose numbers are unknown
 */
export function toCallFilter(arch: string): Buffer | null {
  if (arch !== 'x64' && arch !== 'arm64') return null
  const { arch: audited, numbers } = REFUSED_CALLS[arch]
  const refused = [...Object.values(numbers), ...KEY_CALLS[arch]]
  const afterwards = (at: number) => refused.length - at
  return Buffer.concat([
    toStep(LOAD, OFFSET.arch),
    toStep(JUMP_IF_EQUAL, audited, 0, refused.length + 3),
    toStep(LOAD, OFFSET.number),
    toStep(JUMP_IF_AT_LEAST, X32_BIT, refused.length + 1, 0),
    ...refused.map((number, at) => toStep(JUMP_IF_EQUAL, number, afterwards(at), 0)),
    toStep(RETURN, ALLOW),
    toStep(RETURN, ENOSYS),
  ])
}

/** `struct sock_filter`: how many steps to skip where a comparison is true, and where false. */
function toStep(code: number, value: number, ifTrue = 0, ifFalse = 0): Buffer {
  const step = Buffer.alloc(8)
  step.writeUInt16LE(code, 0)
  step.writeUInt8(ifTrue, 2)
  step.writeUInt8(ifFalse, 3)
  step.writeUInt32LE(value, 4)
  return step
}

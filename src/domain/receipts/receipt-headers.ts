/** Headers of a judged answer: the address of its receipt, and the salt of its hashes. */
export const RECEIPT_HEADER = 'Call-Receipt'
export const RECEIPT_SECRET_HEADER = 'Call-Receipt-Secret'
/** Member of `_meta` with both, where the call came over MCP. */
export const RECEIPT_META_KEY = 'directory/call-receipt'
/** Request header: with `off` the call is not judged. */
export const WITNESS_HEADER = 'call-witness'

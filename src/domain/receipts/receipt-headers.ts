/** Headers of a judged answer: the address of its receipt, and the salt of its hashes. */
export const RECEIPT_HEADER = 'Call-Receipt'
export const RECEIPT_SECRET_HEADER = 'Call-Receipt-Secret'
/** Request header: with `off` the call is not judged. */
export const WITNESS_HEADER = 'call-witness'

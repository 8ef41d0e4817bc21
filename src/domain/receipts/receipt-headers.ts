/** Headers of a judged answer: where its receipt will be, and the secret that its hashes are salted with. */
export const RECEIPT_HEADER = 'Call-Receipt'
export const RECEIPT_SECRET_HEADER = 'Call-Receipt-Secret'
/** Of a request: `off` and nothing of the call is judged. */
export const WITNESS_HEADER = 'call-witness'

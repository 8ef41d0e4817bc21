export function findRedoclyErrors(document: object): Promise<string[]>
export function findSpectralErrors(document: object): Promise<unknown[]>

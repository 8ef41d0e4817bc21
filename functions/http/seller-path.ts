/** Seller routes carry a session, so no other origin may read their answers. */
export function isSellerPath(path: string): boolean {
  return path.startsWith('/api/v1/sellers')
}

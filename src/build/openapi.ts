import { ROUTES } from '../domain/route-table.ts'

export function createOpenApi(baseUrl: string): Record<string, unknown> {
  const paths = Object.fromEntries(
    Object.values(ROUTES).map((route) => [route.path.replace(/:(\w+)/g, '{$1}'), {}]),
  )
  return {
    openapi: '3.1.0',
    info: { title: 'Waypost', version: '0.1.0' },
    servers: [{ url: baseUrl }],
    paths,
  }
}

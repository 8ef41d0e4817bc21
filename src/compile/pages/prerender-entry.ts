import { StaticPaths } from 'astro:static-paths'
import { createApp } from 'astro/app/entrypoint'

/** Exports of a bundle of pages. Making a text at once is faster than streaming it. */
const app = createApp({ streaming: false })

export const readPaths = () => new StaticPaths(app).getAll()

type Paths = Awaited<ReturnType<typeof readPaths>>

export function render(request: Request, routeData: Paths[number]['route']): Promise<Response> {
  return app.render(request, { routeData })
}

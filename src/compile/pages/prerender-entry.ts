import { StaticPaths } from 'astro:static-paths'
import { createApp } from 'astro/app/entrypoint'

/** What a bundle of pages exports. Text is faster made at once than streamed. */
const app = createApp({ streaming: false })

export const readPaths = () => new StaticPaths(app).getAll()

type Paths = Awaited<ReturnType<typeof readPaths>>

export function render(request: Request, routeData: Paths[number]['route']): Promise<Response> {
  return app.render(request, { routeData })
}

import { watch } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { dev } from 'astro'
import { build } from '../../src/build/build.ts'
import { RELEASE_DIR_VARIABLE } from '../../src/compiled.ts'
import { rememberBuilds } from '../../src/content/recall.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { CHOSEN_PAGE } from '../../src/domain/wire/routes.ts'
import { parseConfig } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'
import { onStop } from '../ports/run-main.ts'
import { createComparePage } from '../search/endpoints.ts'
import { createPageSearch } from '../search/search-routes.ts'
import { createService } from '../service/service.ts'

/**
 * `npm run dev`: Astro's development server for the pages, behind the same functions and files as
 * in production. Saved content shows at once in pages, API and search: it is compiled into a
 * release without pages, which the functions load like any other.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The property of a request in which Astro's development server looks for a page's locals. */
const ASTRO_LOCALS = Symbol.for('astro.locals')
/** Wait after a change, because an editor saves a file in several steps (milliseconds). */
const SAVING = 50
/** Time for an open browser to reload its page before the search index is built (milliseconds). */
const LOADING = 400
/** Time to close open connections on shutdown (milliseconds). */
const PATIENCE = 2000
/** Separate from the folder used by `npm start`, whose release has pages. */
const OUT_DIR = '.cache/dev'

const config = parseConfig({ ...process.env, OUT_DIR: process.env.OUT_DIR || OUT_DIR })
const renderFrom = (folder: string) => {
  process.env[RELEASE_DIR_VARIABLE] = folder
}
process.env.ASTRO_TELEMETRY_DISABLED = '1'
rememberBuilds()
if (!(await compile(renderFrom))) process.exit(1)
const service = await createService({
  config,
  log: createLog((line) => process.stdout.write(line), Date.now),
})
const search = createPageSearch(service.parts)
const compare = createComparePage(service.parts)
const pages = await dev({
  root: ROOT,
  server: { host: config.HOST, port: config.PORT },
  // A release has thousands of files: watching them would double the memory and delay the first page.
  vite: {
    server: {
      watch: { ignored: [resolve(config.OUT_DIR), join(ROOT, '.cache'), join(ROOT, 'dist')] },
    },
  },
  integrations: [
    {
      name: 'directory-functions',
      hooks: {
        'astro:server:setup': ({ server }) => {
          server.middlewares.use(answerWithFunctions)
          // Makes Astro forget its list of pages and open browsers reload; the code stays loaded.
          watchContent(() => {
            for (const { hot } of Object.values(server.environments))
              hot.send('astro:content-changed', {})
            server.environments.client.hot.send({ type: 'full-reload' })
          })
        },
      },
    },
  ],
})

onStop(async () => {
  // Open browsers hold a connection each; shutdown does not wait for them.
  setTimeout(() => process.exit(0), PATIENCE).unref()
  await Promise.all([pages.stop(), service.close()])
})

/** @returns false if the content has errors, which are printed; the previous release stays */
async function compile(onData: (folder: string) => Promise<void> | void): Promise<boolean> {
  try {
    await build({
      contentDir: config.CONTENT_DIR,
      baseUrl: config.BASE_URL,
      allowPrivate: config.PRIVATE_TARGETS,
      issuer: config.OIDC_ISSUER,
      asOf: config.AS_OF,
      outDir: resolve(config.OUT_DIR),
      readLedger: async () => NO_LEDGER_FACTS,
      onData,
      log: console.log,
    })
    renderFrom(resolve(config.OUT_DIR, 'current'))
    return true
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    console.log(error.message)
    return false
  }
}

/** Watches the product's own tables too: they are used where a content folder has no table of its own. */
function watchContent(onChange: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const recompile = async () => {
    const start = performance.now()
    const report = (what: string) =>
      console.log(`${what} in ${Math.round(performance.now() - start)} ms`)
    const show = async (folder: string) => {
      renderFrom(folder)
      onChange()
      report('pages updated')
      await sleep(LOADING)
    }
    try {
      if (!(await compile(show))) return
      await service.refresh()
      report('functions updated')
    } catch (error) {
      console.error(error)
    }
  }
  for (const folder of new Set([resolve(config.CONTENT_DIR), join(ROOT, 'content/tables')]))
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer)
      timer = setTimeout(() => void recompile(), SAVING)
    })
}

/** Answers every request that is not for a page, from a file of the last release or by its functions. */
function answerWithFunctions(req: IncomingMessage, res: ServerResponse, next: () => void): void {
  const target = req.url ?? ''
  if (LIVE.test(target) || /^\/[^?@]*\.md(?:\?|$)/.test(target))
    return void service.server.emit('request', req, res)
  void prepare(req).then(next, (error: unknown) => {
    console.error(error)
    next()
  })
}

/** Attaches the data for a page rendered on demand; `/compare?…` becomes the page of chosen listings. */
async function prepare(req: IncomingMessage): Promise<void> {
  const { searchChoices, site: texts } = service.parts.release()
  const isChosen = req.url?.startsWith('/compare?') === true
  const chosen = isChosen ? await compare(req.url ?? '') : undefined
  if (isChosen) req.url = req.url?.replace('/compare', CHOSEN_PAGE)
  Reflect.set(req, ASTRO_LOCALS, {
    search,
    searchChoices,
    texts,
    base_url: config.BASE_URL,
    chosen,
  })
}

const LIVE =
  /^\/(?:api|go|badge|og|mcp|a2a|v0\.1|discovery|ard|\.well-known|healthz|readyz|metrics|openapi\.json|llms[\w-]*\.txt)(?:[/?]|$)/

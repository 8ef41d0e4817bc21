/** A folder with more files than this needs rooms inside. The search page's room is the largest. */
export const MOST_FILES = 28

/** Folders whose rooms are being built; none is left when this is empty. */
export const ROOMS_TO_DIVIDE: string[] = []

const SITE = ['src/pages', 'src/site']
const LIVE = ['src/domain', 'src/search', 'src/store', 'src/compiled.ts', 'functions']
/** What a page says and a function must know: who was chosen. */
const PAGE_WORDS = ['src/site/compare']

/**
 * The arrows: what of ours a folder may import, and which packages. A folder may always import
 * itself; the longest path that fits a file decides. `*` at the end of a package stands for
 * anything. Only tests import tests, and nobody imports seeds.
 */
export const ARROWS: Record<string, { ours: string[]; packages: string[] }> = {
  'src/domain': { ours: [], packages: ['valibot'] },
  // The Public Suffix List decides whose a host is.
  'src/domain/owners': { ours: ['src/domain'], packages: ['valibot', 'tldts'] },
  // A memo on a chain names its seller by a hash.
  'src/domain/settlement/schemes': { ours: [], packages: ['valibot', '@noble/hashes'] },
  // The account that holds a wallet's coins on Solana is a hash that is no point of the curve.
  'src/domain/settlement/token-account.ts': {
    ours: ['src/domain/settlement'],
    packages: ['@noble/hashes', '@noble/curves'],
  },
  // What a caller relies on is named by a hash.
  'src/domain/pins': { ours: ['src/domain'], packages: ['valibot', '@noble/hashes'] },
  // Receipts are signed, and their log is a tree of hashes.
  'src/domain/receipts': {
    ours: ['src/domain'],
    packages: ['valibot', '@noble/hashes', '@noble/curves'],
  },
  'src/domain/wire': { ours: [], packages: ['valibot'] },
  // Reads schemas instead of compiling them: nothing foreign becomes code.
  'src/domain/json-schema': { ours: ['src/domain/wire'], packages: ['@cfworker/json-schema'] },
  // Rooms of the search, each on the ones before; none uses a Node built-in, so that any host can.
  'src/search/words': { ours: ['src/domain'], packages: [] },
  'src/search/index': {
    ours: ['src/domain', 'src/search/words'],
    packages: ['valibot'],
  },
  'src/search/query': { ours: ['src/domain', 'src/search'], packages: ['@orama/orama'] },
  // Reading files is all it does beyond naming shapes of the domain.
  'src/compiled.ts': { ours: ['src/domain'], packages: ['node:crypto', 'node:fs', 'node:path'] },
  // Releases, as builds write them and servers read them.
  'src/store': { ours: ['src/domain'], packages: ['node:*', 'valibot'] },
  'src/site/env.d.ts': { ours: ['src/domain', 'src/site/compare'], packages: [] },
  // Cards for links, drawn in a thread.
  'src/site/cards': {
    ours: ['src/domain', 'src/site', 'src/compile/files', 'src/compiled.ts'],
    packages: ['node:*', '@resvg/resvg-wasm'],
  },
  // What was parsed or found is kept for the next build.
  'src/compile/content': {
    ours: ['src/domain', 'src/compile/files'],
    packages: [
      'node:crypto',
      'node:fs',
      'node:path',
      'node:url',
      'node:util',
      'gray-matter',
      'yaml',
      'valibot',
      '@valibot/to-json-schema',
    ],
  },
  'src/compile/derive': {
    ours: ['src/domain', 'src/search', 'src/compile/content', 'src/compile/files'],
    packages: ['markdown-it'],
  },
  'src/compile/openapi': {
    ours: ['src/domain'],
    packages: ['node:fs', 'valibot', '@valibot/to-json-schema', 'yaml'],
  },
  'src/compile/deploy': {
    ours: ['src/domain', 'src/compile/files'],
    packages: ['node:*', 'esbuild'],
  },
  'src/compile/files': { ours: ['src/domain', 'src/store'], packages: ['node:*', 'valibot'] },
  'src/compile/pages': {
    ours: ['src/domain', 'src/site', 'src/compiled.ts', 'src/compile'],
    packages: ['node:*', 'valibot', 'astro', 'astro:static-paths', 'pagefind'],
  },
  'src/compile/engine': {
    ours: ['src/domain', 'src/search', 'src/compile/derive', 'src/compile/files'],
    packages: ['node:*'],
  },
  'src/compile/release': {
    ours: ['src/domain', 'src/search', 'src/store', 'src/site', 'src/compiled.ts', 'src/compile'],
    packages: ['node:*', 'valibot', 'esbuild', 'yaml'],
  },
  ...Object.fromEntries(
    SITE.map((folder) => [
      folder,
      {
        ours: [...SITE, 'src/domain', 'src/compiled.ts'],
        packages: ['astro', 'astro:*', 'valibot'],
      },
    ]),
  ),
  // The commands read content; the server never does.
  'functions/commands': {
    ours: [...LIVE, 'src/compile'],
    packages: ['node:*', 'astro', 'valibot'],
  },
  'functions/access': { ours: LIVE, packages: ['node:*'] },
  'functions/analytics': { ours: LIVE, packages: ['kysely', 'valibot'] },
  'functions/app': { ours: LIVE, packages: ['node:*', 'h3'] },
  'functions/call': { ours: LIVE, packages: ['node:*'] },
  'functions/changes': { ours: LIVE, packages: ['node:*', 'h3', 'valibot'] },
  'functions/cards': { ours: [...LIVE, 'src/site/cards'], packages: ['node:*'] },
  'functions/clicks': { ours: LIVE, packages: ['h3'] },
  'functions/discovery': { ours: ['src/domain', 'functions'], packages: [] },
  // Whatever it imports goes into one file for hosts that have no Node.
  'functions/edge': { ours: LIVE, packages: [] },
  'functions/http': { ours: LIVE, packages: ['node:*', 'valibot'] },
  'functions/compare': { ours: [...LIVE, ...PAGE_WORDS], packages: ['h3'] },
  'functions/doors': {
    ours: LIVE,
    packages: [
      'node:*',
      'h3',
      'valibot',
      '@valibot/to-json-schema',
      'light-my-request',
      '@modelcontextprotocol/server',
      '@a2a-js/sdk*',
    ],
  },
  'functions/kit': { ours: LIVE, packages: ['h3'] },
  'functions/lint': { ours: LIVE, packages: ['node:*', 'h3', 'valibot'] },
  'functions/forms': { ours: LIVE, packages: ['node:*', 'valibot'] },
  'functions/limits': { ours: LIVE, packages: ['node:*'] },
  'functions/deliveries': { ours: LIVE, packages: ['node:*', 'kysely', 'nodemailer', 'valibot'] },
  'functions/metrics': { ours: LIVE, packages: ['node:*', 'h3', 'kysely', 'prom-client'] },
  'functions/meter': { ours: LIVE, packages: ['node:*', 'kysely', 'valibot', '@noble/*'] },
  'functions/operations': { ours: LIVE, packages: ['node:*'] },
  'functions/parts': { ours: LIVE, packages: ['h3'] },
  'functions/ports': { ours: ['src/domain', 'functions'], packages: ['node:*', 'valibot'] },
  // The one way out: nobody else opens a connection to a seller, a webhook or a node.
  'functions/net': {
    ours: ['src/domain', 'functions/net', 'functions/ports'],
    packages: ['node:*', 'undici'],
  },
  'functions/probe': { ours: LIVE, packages: ['node:*', 'h3', 'kysely', 'tldts', 'valibot'] },
  'functions/reports': { ours: LIVE, packages: ['node:*', 'valibot'] },
  'functions/receipts': { ours: LIVE, packages: ['node:*', 'h3', 'valibot'] },
  // What settlements and every part read of the log: it knows nothing of calls, routes or sellers.
  'functions/receipts/log': {
    ours: ['src/domain', 'functions/ports', 'functions/store'],
    packages: ['node:*', 'kysely', 'valibot', '@noble/*'],
  },
  'functions/release': { ours: [...LIVE, ...PAGE_WORDS], packages: ['node:*', 'valibot'] },
  // A release from a store is put in place as a build puts its own.
  'functions/releases': {
    ours: [...LIVE, 'src/compile/release', 'src/compile/files'],
    packages: ['node:*', 'valibot', 'aws4fetch', 'undici'],
  },
  'functions/search': { ours: LIVE, packages: ['node:*', 'h3'] },
  'functions/sellers': {
    ours: LIVE,
    packages: ['node:crypto', 'h3', 'jose', 'kysely', 'lucia', 'valibot', '@noble/*'],
  },
  'functions/sellers/pages': { ours: LIVE, packages: ['node:http', 'h3'] },
  'functions/settlements': { ours: LIVE, packages: ['node:crypto', 'kysely', 'valibot'] },
  'functions/static': { ours: LIVE, packages: ['node:*'] },
  'functions/watches': {
    ours: [...LIVE, 'src/search', 'src/site/feeds'],
    packages: ['node:*', 'h3', 'kysely', 'valibot'],
  },
  'functions/tasks': { ours: LIVE, packages: ['h3'] },
  'functions/store': { ours: ['src/domain', 'functions'], packages: ['node:*', 'kysely*', 'pg'] },
  // Sellers are read through the guard that the relay and the probes use.
  'seeds/facts': { ours: ['src/domain', 'functions/discovery', 'seeds'], packages: ['valibot'] },
  'seeds/fetch': {
    ours: ['src/domain', 'functions/discovery', 'functions/net', 'functions/ports', 'seeds'],
    packages: ['node:*'],
  },
  'seeds/sources/discovery': { ours: ['src/domain', 'functions/discovery', 'seeds'], packages: [] },
  // What people decide is held against the same checks as a build, and may wait in the ledger.
  'seeds/review': {
    ours: ['src/domain', 'src/compile/content', 'functions', 'seeds'],
    packages: ['node:*', 'valibot'],
  },
  // One run writes at a time, behind the lock that builds take too; rows find the listings of a build.
  'seeds/content': {
    ours: ['src/domain', 'src/compile/content', 'functions/operations', 'seeds'],
    packages: ['node:*', 'valibot', 'yaml'],
  },
  'seeds/commands': {
    ours: [
      ...['src/domain', 'src/compile/content'],
      ...['functions/operations', 'functions/ports', 'seeds'],
    ],
    packages: ['node:*', 'tldts'],
  },
  seeds: { ours: ['src/domain'], packages: ['node:*', 'tldts', 'valibot', 'yaml'] },
  // Published by itself: takes rules of the domain along, and runs wherever fetch does.
  // Types alone of what the interface sends.
  'packages/client/src/answers.ts': {
    ours: ['src/domain', 'src/compile/openapi'],
    packages: ['valibot'],
  },
  'packages/client/src': { ours: ['src/domain'], packages: [] },
  'packages/client/cli': {
    ours: ['src/domain', 'packages/client/src'],
    packages: ['node:*', 'valibot'],
  },
  'packages/client/pack': {
    ours: ['src/compile/openapi'],
    packages: ['node:*', 'esbuild'],
  },
  test: { ours: [''], packages: ['*'] },
}

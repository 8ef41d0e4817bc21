/**
 * The numbered rules of the interface specification, in its own numbering, with a reminder in our
 * words of what each is about. A test title that carries `spec:<section>.<n>` holds that rule.
 */
export const SPEC_RULES = {
  service: {
    heading: 'What the service does',
    rules: [
      'four kinds of listing, two rails',
      'search and reads are free and change nothing',
      'the call endpoint holds no funds and takes no fee',
      'trust comes from verified payments alone; null is not negative; few are marked',
      'the trust method has a name and an address',
      'listings start unclaimed; a seller claims one by its domain',
      'nothing is sponsored; own kits stand apart',
      'a click is logged without its person and redirected',
      'stubs answer 501',
      'other directories are linked, not copied',
    ],
  },
  search: {
    heading: 'Rules:',
    rules: [
      'BM25 over weighted fields',
      'the factors of trust and Live-Tested',
      'tiers that cost money or are ours change no order',
      'default page (ours to choose)',
      'order without words (ours to choose)',
    ],
  },
  authentication: {
    heading: 'Authentication',
    rules: [
      'public reads need no credential',
      'the caller signs payments; they pass unchanged',
      'sellers sign in by mail and hold a cookie',
      'three ways to prove a domain',
      'the session cookie (ours to choose)',
      'the sign-in link (ours to choose)',
    ],
  },
  versioning: {
    heading: 'Versioning',
    rules: [
      'the version of the interface',
      'the prefix of JSON endpoints',
      'the version of the kit manifest',
      'the name of the trust method',
      'compatibility (ours to choose)',
    ],
  },
} as const

/** Every tag a test title must carry, `spec:search.2` and so on. */
export const SPEC_TAGS: readonly string[] = Object.entries(SPEC_RULES).flatMap(
  ([section, { rules }]) => rules.map((_, index) => `spec:${section}.${index + 1}`),
)

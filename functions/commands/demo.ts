/**
 * `npm run demo`: serves the fictional directory of `test/fixtures/demo` from folders of its own, so
 * that every state of every page can be seen. A banner on each page says that nobody in it exists.
 */
const env = { ...process.env }
Object.assign(process.env, {
  CONTENT_DIR: 'test/fixtures/demo',
  OUT_DIR: '.cache/demo',
  STATE_DIR: '.cache/demo-state',
  DATABASE_URL: '',
  SMTP_URL: '',
  PORT: env.PORT || '4321',
  BASE_URL: env.BASE_URL || `http://localhost:${env.PORT || '4321'}`,
})
await import('./start.ts')

export {}

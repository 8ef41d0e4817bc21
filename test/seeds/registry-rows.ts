/** Rows as a source publishes them, with what a test wants to differ. */
export function server(name: string, change: object = {}) {
  const [, short = ''] = name.split('/')
  return { name, description: 'Does one thing well.', packages: pack(`${short}-pkg`), ...change }
}

export function pack(identifier: string) {
  return [{ registryType: 'npm', identifier, transport: { type: 'stdio' } }]
}

export function remote(url: string) {
  return { remotes: [{ type: 'streamable-http', url }] }
}

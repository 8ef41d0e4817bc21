/**
 * Where many strangers publish under one host: a file or a record there proves control of the
 * platform, never of one project on it. Registrable domains.
 */
const SHARED_PLATFORMS: ReadonlySet<string> = new Set([
  // Code hosts
  'github.com',
  'gitlab.com',
  'bitbucket.org',
  'codeberg.org',
  'gitee.com',
  'sr.ht',
  'sourceforge.net',
  'huggingface.co',
  'replit.com',
  // Package registries and their pages
  'npmjs.com',
  'npmjs.org',
  'pypi.org',
  'nuget.org',
  'crates.io',
  'rubygems.org',
  'packagist.org',
  'docker.com',
  'docker.io',
  'ghcr.io',
  'quay.io',
  'jsr.io',
  'go.dev',
  // Marketplaces and gateways that serve many sellers by path
  'rapidapi.com',
  'smithery.ai',
  'glama.ai',
  'apify.com',
  'postman.com',
  'notion.site',
  'modelcontextprotocol.io',
])

/** Where anybody gets a mailbox: an address there proves nothing about the host. */
const PUBLIC_MAIL: ReadonlySet<string> = new Set([
  'gmail.com',
  'googlemail.com',
  'outlook.com',
  'hotmail.com',
  'live.com',
  'msn.com',
  'yahoo.com',
  'ymail.com',
  'aol.com',
  'icloud.com',
  'me.com',
  'mac.com',
  'proton.me',
  'protonmail.com',
  'pm.me',
  'gmx.com',
  'gmx.net',
  'gmx.de',
  'web.de',
  'mail.com',
  'mail.ru',
  'yandex.com',
  'yandex.ru',
  'zoho.com',
  'zohomail.com',
  'fastmail.com',
  'hey.com',
  'tutanota.com',
  'tuta.com',
  'tuta.io',
  'qq.com',
  '163.com',
  '126.com',
  'naver.com',
])

export function isSharedPlatform(registrableDomain: string): boolean {
  return SHARED_PLATFORMS.has(registrableDomain)
}

export function isPublicMail(domain: string): boolean {
  return PUBLIC_MAIL.has(domain)
}

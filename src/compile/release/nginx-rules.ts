import {
  BADGE_HEADERS,
  DATA_HEADERS,
  LONG_CACHE,
  PAGE_HEADERS,
  SHORT_CACHE,
  toTransportHeaders,
} from '../../domain/wire/site-headers.ts'

/** Where the release is mounted on the web host; the one line to change. */
const ROOT = '/srv/waypost/current'

/**
 * A server block for nginx in front of several instances: files from the release, everything live
 * from the functions. Generated, so that its headers are the ones our own server sends.
 */
export function toNginxRules(baseUrl: string): string {
  const transport = toTransportHeaders(baseUrl)
  const headers = (values: Record<string, string>) => addHeaders({ ...values, ...transport })
  return `# Files of a Waypost release, and its functions behind them. Include inside http { }.
upstream waypost_functions { server 127.0.0.1:4321; keepalive 32; }

server {
  listen 80;
  root ${ROOT}/public;
  absolute_redirect off;
  gzip_static on;
  gzip_vary on;
  default_type application/octet-stream;
  charset utf-8;
  charset_types text/html text/css text/javascript text/plain;
  types { ${TYPES} }
  client_max_body_size 10m;
  large_client_header_buffers 8 128k;

  # Ids contain dots: the folder of an address holds its page or its JSON.
  location / { try_files $uri/index.html @files; ${headers({ 'cache-control': SHORT_CACHE, ...PAGE_HEADERS })} }
  location @files { try_files $uri @functions; ${headers({ 'cache-control': SHORT_CACHE, ...DATA_HEADERS })} }
  location /api/ { try_files $uri/index.json $uri @functions; ${headers({ 'cache-control': SHORT_CACHE, ...DATA_HEADERS })} }
  location /badge/ { try_files $uri @functions; ${headers({ 'cache-control': SHORT_CACHE, ...DATA_HEADERS, ...BADGE_HEADERS })} }
  location /_astro/ { try_files $uri =404; ${headers({ 'cache-control': LONG_CACHE, ...DATA_HEADERS })} }
  location ~ ^/pagefind/(fragment|index|filter)/ { try_files $uri =404; ${headers({ 'cache-control': LONG_CACHE, ...DATA_HEADERS })} }

  # Live answers. The relay streams both ways: no buffering, and time for a payment to settle.
  location = /api/v1/search { ${PROXY} }
  # What pays or writes is sent once: by default nginx asks a second server when the first one fails.
  location /go/ { ${PROXY} ${ONCE} }
  location /api/v1/sellers/ { ${PROXY} ${ONCE} }
  location /api/v1/call/ { ${PROXY} ${ONCE} proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 340s; }
  location @functions { ${PROXY} ${ONCE} }
}
`
}

const TYPES = [
  'text/html html;',
  'application/json json;',
  'application/x-ndjson ndjson;',
  'application/gzip gz;',
  'image/svg+xml svg;',
  'text/css css;',
  'text/javascript js mjs;',
  'text/plain txt;',
  'application/xml xml;',
  'application/wasm wasm;',
  'image/png png;',
  'image/x-icon ico;',
  'application/manifest+json webmanifest;',
].join(' ')

const ONCE = 'proxy_next_upstream off;'

const PROXY = [
  'proxy_pass http://waypost_functions;',
  'proxy_http_version 1.1;',
  'proxy_set_header Host $http_host;',
  'proxy_set_header Connection "";',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header Accept-Encoding $http_accept_encoding;',
].join(' ')

function addHeaders(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => `add_header ${name} "${value}";`)
    .join(' ')
}

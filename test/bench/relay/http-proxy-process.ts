import { createServer } from 'node:http'
import httpProxy from 'http-proxy'
import { listen } from '../../support/listen.ts'

/** A plain `http-proxy` to compare with: `node http-proxy-process.ts <seller>`. */
const [target = ''] = process.argv.slice(2)
const proxy = httpProxy.createProxyServer({ target, changeOrigin: true })
proxy.on('error', (_error, _req, res) => void res.destroy())
console.log(await listen(createServer((req, res) => proxy.web(req, res))))

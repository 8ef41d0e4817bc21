import { readCompiled } from '../compiled.ts'
import { toXmlText } from '../domain/wire/escape.ts'

/** Lets a browser search this directory from its address bar (OpenSearch 1.1). */
export function GET(): Response {
  const { base_url, texts } = readCompiled().site
  const base = toXmlText(base_url)
  return new Response(`<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${toXmlText(texts.name.slice(0, 16))}</ShortName>
<Description>${toXmlText(texts.strapline)}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Image width="16" height="16" type="image/svg+xml">${base}/favicon.svg</Image>
<Url type="text/html" template="${base}/search?q={searchTerms}"/>
<Url type="application/json" template="${base}/api/v1/search?q={searchTerms}"/>
</OpenSearchDescription>
`)
}

import type { H3Event, HTTPResponse } from 'h3'

/** What answers one route of the h3 app. */
export type Handler = (event: H3Event) => Response | HTTPResponse | Promise<Response | HTTPResponse>

/// <reference types="astro/client" />

declare namespace App {
  interface Locals {
    /** The body of `GET /api/v1/search`, or `{ problems }`; absent where no function serves the page. */
    search?: (rawQuery: string) => unknown
  }
}

/** Filter values of the search page with their counts; see `astro.config.mjs`. */
declare module 'virtual:search-choices' {
  interface Choice {
    id: string
    name: string
    listings: number
  }
  const choices: {
    total: number
    kinds: Record<string, number>
    rails: Record<string, number>
    categories: Choice[]
    sources: Choice[]
  }
  export default choices
}

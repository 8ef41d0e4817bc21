/// <reference types="astro/client" />

declare namespace App {
  interface Locals {
    /** The body of `GET /api/v1/search`, or `{ problems }`; absent if no function serves the page. */
    search?: (
      rawQuery: string,
      page: 'submitted' | 'typing',
    ) => import('../domain/search/search-response.ts').PageAnswer
    /** The search page's filter values with their counts. */
    searchChoices?: import('../domain/derived/tables.ts').SearchChoices
    /** The directory's names and texts; pages made at build time read them from the catalogue. */
    texts: import('../domain/derived/tables.ts').SiteTexts
    /** `BASE_URL`, as in `texts`: the code of the pages is the same for every address. */
    base_url: string
    /** The listings to compare that the query names; absent if no function serves the page. */
    chosen?: import('../components/compare/versus.ts').ChosenListings | undefined
    /** The outcome of a report, or the empty form; absent if no function serves the page. */
    reported?: import('../domain/sellers/report.ts').ReportPage | undefined
    /** The linter's report on the address in the query; absent without functions. */
    checked?: import('../domain/sellers/lint.ts').CheckAnswer | undefined
    /** A seller's own listings, or the fact that nobody is signed in; absent if no function serves the page. */
    dashboard?: import('../domain/views/seller-views.ts').DashboardPage | undefined
    /** The sellers' sign-in form, or its outcome; absent without functions. */
    signIn?: import('../domain/views/seller-views.ts').SignInPage | undefined
  }
}

/** The package has no types of its own. */
declare module 'punycode.js' {
  const punycode: { toUnicode(host: string): string }
  export default punycode
}

/// <reference types="astro/client" />

declare namespace App {
  interface Locals {
    /** The body of `GET /api/v1/search`, or `{ problems }`; absent where no function serves the page. */
    search?: (
      rawQuery: string,
      page: 'submitted' | 'typing',
    ) => import('../domain/search/search-response.ts').PageAnswer
    /** Filter values of the search page with their counts. */
    searchChoices?: import('../domain/derived/tables.ts').SearchChoices
    /** Names and texts of the directory; pages made at build read them from the catalogue. */
    texts: import('../domain/derived/tables.ts').SiteTexts
    /** `BASE_URL`, as in `texts`: the code of the pages is the same for every address. */
    base_url: string
    /** The listings to compare that the query names; absent where no function serves the page. */
    chosen?: import('../components/compare/versus.ts').ChosenListings | undefined
    /** The outcome of a report, or the empty form; absent where no function serves the page. */
    reported?: import('../domain/sellers/report.ts').ReportPage | undefined
    /** The linter's report on the address in the query; absent without functions. */
    checked?: import('../domain/sellers/lint.ts').CheckAnswer | undefined
    /** A seller's own listings, or the fact that nobody is signed in; absent where no function serves the page. */
    dashboard?: import('../domain/views/seller-views.ts').DashboardPage | undefined
    /** The sign-in form of sellers, or its outcome; absent without functions. */
    signIn?: import('../domain/views/seller-views.ts').SignInPage | undefined
  }
}

/** The package has no types of its own. */
declare module 'punycode.js' {
  const punycode: { toUnicode(host: string): string }
  export default punycode
}

/**
 * A function answers this address when it names listings: a reader who sees the file then is on a copy of
 * the site that has none, and is told.
 */
const notice = document.querySelector<HTMLElement>('[data-no-function]')
if (notice && new URLSearchParams(location.search).has('ids')) notice.hidden = false

import type { MailTask } from '../mails/mail-queue.ts'
import type { Mail } from '../mails/mailer.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../store/schema/store.ts'
import { issueLoginToken, LOGIN_TOKEN_MINUTES } from './sessions/login-token.ts'

/** Text of one mail, without greeting and signature. */
type Letter = Pick<Mail, 'subject' | 'link'> & { body: string }
type ListingTask = Exclude<MailTask, { kind: 'sign_in' }>

/**
 * The token is made here, at the moment of sending, so that no table ever holds it; every try makes
 * a new one. Links start with `BASE_URL`: the request's Host has no say.
 */
export function createLetters(
  store: Store,
  clock: Clock,
  { baseUrl, name }: { baseUrl: string; name: () => string },
) {
  return async (email: string, task: MailTask): Promise<Letter> => {
    if (task.kind !== 'sign_in') return writeListingMail(baseUrl, task)
    const token = await issueLoginToken(store.db, email, clock.now())
    return writeSignInMail(name(), `${baseUrl}/sellers/sign-in?token=${token}`)
  }
}

function writeSignInMail(name: string, link: string): Letter {
  return {
    subject: `Your ${name} sign-in link`,
    link,
    body: `Someone asked to sign in to ${name} with this address, probably you.
Open this link and press the button there:

${link}

The link works once and for ${LOGIN_TOKEN_MINUTES} minutes. A newer link replaces it.
If this was not you, ignore this mail. Nobody can sign in without the link.`,
  }
}

function writeListingMail(baseUrl: string, task: ListingTask): Letter {
  const { subject, body } = task.kind === 'listing_news' ? describeNews(task) : describe(task)
  const links = `Your claims: ${baseUrl}/sellers/dashboard\nThe listing: ${baseUrl}/listing/${task.listing_id}`
  return { subject, body: `${body}\n\n${links}` }
}

function describeNews({ listing_id, news }: Extract<MailTask, { kind: 'listing_news' }>): Letter {
  const [first = ''] = news
  return {
    subject:
      news.length === 1 ? `${listing_id}: ${first}` : `${listing_id}: ${news.length} changes`,
    body: `this is new about your listing ${listing_id}:\n\n${news.map((line) => `  ${line}`).join('\n')}\n\nYou can turn off such mails on your dashboard.`,
  }
}

function describe(task: Exclude<ListingTask, { kind: 'listing_news' }>): Letter {
  const { listing_id, host } = task
  const upkeep =
    task.method === 'oidc'
      ? 'Please let the workflow run each week: every run proves it anew.'
      : 'Please leave the proof in place: we check it every day.'
  switch (task.kind) {
    case 'claim_verified':
      return {
        subject: `You own the listing ${listing_id}`,
        body: `we found your proof for ${host}. The listing ${listing_id} is yours.\nIt shows as claimed after the next build of the directory.\n${upkeep}`,
      }
    case 'claim_superseded':
      return {
        subject: `Somebody else now owns the listing ${listing_id}`,
        body: `another seller proved control of ${host} after you did. The listing ${listing_id} is theirs now, and your claim has ended.\nIf this is a surprise, check who can publish files or DNS records for that host, then claim the listing again.`,
      }
    case 'claim_failing':
      return {
        subject: `We could not find your proof for ${listing_id}`,
        body: `the daily check of your claim on ${listing_id} failed:\n${task.reason}\nPut the proof back within 7 days, or the claim ends and the listing is unclaimed again. You can check it now on your dashboard.`,
      }
    case 'claim_lapsed':
      return {
        subject: `Your claim on ${listing_id} has lapsed`,
        body: `${whyLapsed(task)}\nThe listing ${listing_id} becomes unclaimed at the next build. You can claim it again at any time, with a new token.`,
      }
    case 'payout_ended':
      return {
        subject: `A payout of ${listing_id} has lost its proof`,
        body: `${task.reason}\nFrom the next build on, payments to it count as those to any published payout. You can prove it again on your dashboard.`,
      }
  }
}

function whyLapsed({ host, reason }: Extract<MailTask, { kind: 'claim_lapsed' }>): string {
  return reason === 'host_changed'
    ? `the listing has moved away from ${host}, and your proof covers that host alone.`
    : `we could not find your proof for ${host} for 7 days:\n${reason}`
}

import { toTerm } from './to-term.ts'

/**
 * Words that ask for the same thing in this kind of directory, though they aren't the same word.
 * They never stand in for each other alone: a related word only counts beside the neighbour it was
 * asked with (`ethereum price` also looks for `crypto price`), or where the word asked for is in
 * hardly any listing (`rain` → weather).
 */
const ROWS = [
  'ethereum bitcoin solana dogecoin litecoin ripple coin token > cryptocurrency',
  'meeting appointment > event meeting schedule',
  'meal dinner lunch pizza takeaway > food restaurant',
  'shop shopping > ecommerce product store',
  'order > purchase delivery',
  'rain snow sunny temperature humidity climate umbrella > weather forecast',
  'flight airline airfare plane > flight travel',
  'hotel accommodation lodging apartment room > hotel booking',
  'taxi cab ride uber > ride',
  'restaurant dining cafe > restaurant food',
  'draw drawing sketch artwork logo > image generation',
  'narrate voice speak spoken speech > speech tts voice audio',
  'transcribe transcript dictation dictate > transcription speech audio',
  'song music tune melody > music audio',
  'clip movie footage > video',
  'translate language german french spanish japanese chinese english > translation',
  'currency dollar euro yen pound > currency exchange',
  'stock share equity ticker nasdaq > stock market',
  'quote rate price pricing cost > price',
  'invoice bill billing receipt > invoice',
  'payout withdraw cashout offramp > payout offramp withdraw transfer',
  'bank account iban > bank fiat',
  'voucher giftcard > gift card',
  'sms text texting > sms',
  'mailbox inbox > email gmail inbox',
  'call dial phone > phone call voice',
  'tweet twitter x > twitter tweet',
  'post publish > post publish',
  'uptime downtime outage down offline > uptime monitoring status',
  'monitor watch alert > monitoring',
  'owner owns registered registrant > whois registration',
  'domain hostname > domain whois dns',
  'address location place > geocoding address location',
  'directions route driving navigate navigation > directions routing maps',
  'scrape crawl extract spider > scraping crawling extraction',
  'site page url website > web website url',
  'screenshot capture snapshot > screenshot',
  'summarize shorten condense tldr > summarization',
  'document paper report > document pdf',
  'spreadsheet workbook xlsx excel > spreadsheet excel',
  'slide slides deck presentation > presentation powerpoint',
  'chart graph plot diagram visualize > chart visualization',
  'execute run sandbox interpreter > execution sandbox',
  'safe safely secure untrusted > sandbox secure',
  'vulnerability exploit cve > vulnerability security',
  'malware virus phishing scam fraud > malware phishing fraud',
  'password secret credential > secrets vault',
  'remember recall memorize > memory',
  'conversation chat session > memory conversation',
  'todo task reminder > task todo',
  'ticket bug issue > issue ticket',
  'repo repository git > repository git',
  'deploy hosting host > deployment',
  'query ask question > query',
  'employee staff workforce > company employees',
  'lead prospect > leads enrichment',
  'candidate hiring hire recruit job career > job recruiting',
  'house home property realtor rent > property estate',
  'doctor patient symptom disease medicine drug > medical health',
  'lawyer court law legal > legal',
  'tax accounting bookkeeping > accounting tax',
  'study scholar academic thesis > research papers academic',
  'article headline headlines > news',
  'identity passport > identity kyc verification',
  'ip geoip > ip geolocation',
  'parcel package shipment > shipping tracking',
  'calorie nutrition diet > nutrition food',
  'workout fitness exercise > fitness',
  'picture image photo > image',
] as const

const NONE: readonly string[] = []
const RELATED = new Map<string, readonly string[]>()
for (const row of ROWS) {
  const [asked = '', meant = ''] = row.split(' > ')
  for (const word of asked.split(' ')) {
    const term = toTerm(word)
    const related = meant.split(' ').map(toTerm)
    RELATED.set(term, [...relatedTerms(term), ...related.filter((other) => other !== term)])
  }
}

/** The terms that listings may use where a query has this one. */
export function relatedTerms(term: string): readonly string[] {
  return RELATED.get(term) ?? NONE
}

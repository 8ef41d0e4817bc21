/** Currencies by ISO 4217 code, each with the words people say for it. */
const CURRENCIES = `
AED dirham dirhams|ARS|AUD|BGN lev|BRL real reais|CAD|CHF franc francs|CLP|CNY yuan renminbi|COP|CZK koruna|DKK
EGP|EUR euro euros €|GBP pound pounds sterling £|HKD|HUF forint|IDR rupiah|ILS shekel shekels|INR rupee rupees ₹
ISK|JPY yen ¥|KES|KRW won ₩|MAD|MXN|MYR ringgit|NGN naira|NOK|NZD|PEN|PHP|PKR|PLN zloty|QAR|RON leu|RSD|RUB rouble
ruble rubles|SAR riyal|SEK|SGD|THB baht|TRY lira|TWD|UAH hryvnia|USD dollar dollars $|UYU|VND dong|ZAR rand
`

/** Languages by ISO 639-1 code. */
const LANGUAGES = `
ar arabic|bg bulgarian|bn bengali|ca catalan|cs czech|da danish|de german deutsch|el greek|en english|es spanish
et estonian|fa persian farsi|fi finnish|fr french|ga irish|he hebrew|hi hindi|hr croatian|hu hungarian|id indonesian
is icelandic|it italian|ja japanese|ko korean|lt lithuanian|lv latvian|ms malay|nb norwegian|nl dutch|pl polish
pt portuguese|ro romanian|ru russian|sk slovak|sl slovenian|sr serbian|sv swedish|sw swahili|ta tamil|th thai|tr turkish
uk ukrainian|ur urdu|vi vietnamese|zh chinese mandarin
`

/** Coins by symbol; the first word is the name that price services use as an id. */
const COINS = `
ADA cardano|ARB arbitrum|AVAX avalanche|BCH bitcoin-cash|BNB binancecoin bnb|BTC bitcoin|DAI dai|DOGE dogecoin doge
DOT polkadot|ETH ethereum ether|LINK chainlink|LTC litecoin|MATIC polygon|NEAR near|OP optimism|PEPE pepe|SHIB shiba-inu
SOL solana|SUI sui|TON toncoin|TRX tron|UNI uniswap|USDC usd-coin|USDT tether|XLM stellar|XMR monero|XRP ripple xrp
`

/** Countries that people ask for by name, ISO 3166-1 alpha-2. */
const COUNTRIES = `
AR argentina|AT austria|AU australia|BE belgium|BR brazil|CA canada|CH switzerland|CL chile|CN china|CO colombia
CZ czechia|DE germany|DK denmark|EG egypt|ES spain|FI finland|FR france|GB britain uk england|GR greece|HU hungary
ID indonesia|IE ireland|IL israel|IN india|IS iceland|IT italy|JP japan|KE kenya|KR korea|MX mexico|NG nigeria
NL netherlands|NO norway|NZ zealand|PE peru|PH philippines|PK pakistan|PL poland|PT portugal|RO romania|RU russia
SA saudi|SE sweden|SG singapore|TH thailand|TR turkey|TW taiwan|UA ukraine|US usa america|VN vietnam|ZA africa
`

export const CURRENCY_BY_WORD = byWord(CURRENCIES)
export const LANGUAGE_BY_WORD = byWord(LANGUAGES)
export const COIN_BY_WORD = byWord(COINS)
export const COUNTRY_BY_WORD = byWord(COUNTRIES)

/** The name of a coin as price services write it. @example COIN_IDS.get('ETH') → 'ethereum' */
export const COIN_IDS: ReadonlyMap<string, string> = new Map(
  rowsOf(COINS).map(([symbol = '', id = '']) => [symbol, id]),
)

/** Each code by itself and by its words, in lower case. */
function byWord(table: string): ReadonlyMap<string, string> {
  return new Map(
    rowsOf(table).flatMap(([code = '', ...words]) =>
      [code, ...words].map((word) => [word.toLowerCase(), code] as const),
    ),
  )
}

function rowsOf(table: string): string[][] {
  return table
    .trim()
    .replaceAll('\n', (_, at: number) => (isInsideRow(table.trim(), at) ? ' ' : '|'))
    .split('|')
    .map((row) => row.split(' '))
}

/** A row continues on a line that begins in lower case, if the table's codes do not. */
function isInsideRow(table: string, at: number): boolean {
  const isUpper = /^[A-Z]/.test(table)
  return isUpper && /^[a-z]/.test(table.slice(at + 1))
}

import { describe, expect, test } from 'vitest'
import { listingDatabase } from '../../src/search/query/search-index.ts'
import { foldText } from '../../src/search/words/split-text.ts'
import { findIn, indexOf, sampleDocument } from './search-samples.ts'

/** So many that none of their words is rare. */
const several = (slug: string, name: string, summary: string) =>
  Array.from({ length: 6 }, (_, at) =>
    sampleDocument({ id: `x402.${slug}-${at}`, name: `${name} ${'abcdef'[at]}${at}`, summary }),
  )

const index = indexOf([
  ...several('weather', 'Weather', 'The weather forecast of any city.'),
  ...several('news', 'News', 'The latest news of any company.'),
  ...several('translate', 'Translate', 'Translate a document into any language.'),
  ...several('image', 'Image', 'Generate an image from a text.'),
  ...several('crypto', 'Token price', 'The price of any crypto token.'),
  ...several('transcribe', 'Transcribe', 'Transcribe an audio recording to text.'),
  ...several('search', 'Web search', 'Search the web.'),
  ...several('phone', 'Phone numbers', 'Rent a phone number.'),
  ...several('folder', 'Folders', 'Files in a folder, kept apart.'),
  ...several('gift', 'Gift cards', 'Buy a gift card.'),
  ...several('glued', 'Giftcard maker', 'Draws a giftcard.'),
  sampleDocument({ id: 'mcp.glue-1', name: 'someone/mcpserver' }),
  sampleDocument({ id: 'mcp.glue-2', name: 'other/mcpserver' }),
  sampleDocument({ id: 'mcp.github', name: 'GitHub MCP Server' }),
])
const first = (q: string) => findIn(index, q, 1).ids[0]?.replace(/-\d$/, '')
const notes = (q: string) => findIn(index, q).notes.join(' ')

describe('a question in another language is read by the table', () => {
  test.each([
    ['Chinese', '明天天气怎么样', 'x402.weather'],
    ['Spanish', 'pronóstico del tiempo para mañana', 'x402.weather'],
    ['Hindi', 'कल मौसम कैसा रहेगा', 'x402.weather'],
    ['Arabic', 'ما هو الطقس غدا', 'x402.weather'],
    ['Portuguese', 'notícias sobre uma empresa', 'x402.news'],
    ['Russian', 'какая завтра погода', 'x402.weather'],
    ['Japanese', '書類を翻訳する', 'x402.translate'],
    ['German', 'Wie wird das Wetter morgen', 'x402.weather'],
    ['French', 'traduire un document', 'x402.translate'],
    ['Korean', '이미지 생성', 'x402.image'],
    ['Italian', 'che tempo fa domani, previsioni del meteo', 'x402.weather'],
    ['Dutch', 'document vertalen', 'x402.translate'],
    ['Polish', 'przetłumacz dokument', 'x402.translate'],
    ['Turkish', 'yarın hava durumu nasıl', 'x402.weather'],
    ['Indonesian', 'terjemahkan dokumen', 'x402.translate'],
    ['Vietnamese', 'dự báo thời tiết ngày mai', 'x402.weather'],
    ['Ukrainian', 'яка завтра погода', 'x402.weather'],
    ['another ending', 'завтрашнюю погодой', 'x402.weather'],
    ['a word that is English too', 'Wetter Berlin', 'x402.weather'],
    ['an article in front', "l'actualité", 'x402.news'],
    ['two words in one', 'Wettervorhersage', 'x402.weather'],
    ['Japanese, of which Chinese has a part', '画像', 'x402.image'],
    ['Japanese, of which Chinese has another part', '写真', 'x402.image'],
    ['Arabic, after a stop word', 'البحث في الويب', 'x402.search'],
    ['several words for one', '加密货币价格', 'x402.crypto'],
    ['a pronoun behind its verb', 'Pourrais-tu traduire ce document ?', 'x402.translate'],
    ['as people ask an agent', 'Kannst du mir bitte den Text in ein Bild umwandeln?', 'x402.image'],
  ])('%s: %s', (_language, q, id) => {
    expect(first(q)).toBe(id)
    expect(notes(q)).toMatch(/Read “.+” as “.+”\./)
  })

  test('a stretch of which only stop words were read is not left out', () => {
    expect(notes('能不能帮我看一下')).not.toBe('')
    expect(notes('帮我查猫')).toContain('猫')
  })

  test('a place of several words is searched for beside the rest, as it is written', () => {
    // `aires` has the stem of `air`.
    const airs = indexOf([
      ...several('news', 'News', 'The latest news of any company.'),
      ...several('air', 'Air', 'The air.').slice(0, 5),
    ])
    expect(findIn(airs, 'noticias de Buenos Aires', 1).ids[0]).toMatch(/^x402\.news/)
    for (const q of ['noticias de aires', 'Buenos Aires'])
      expect(findIn(airs, q, 1).ids[0], q).toMatch(/^x402\.air/)
  })

  test.each([
    ['a place in the question', 'trains in Zurich', 'switzerland', 'api.swiss'],
    ['a country by its name there', 'treni in Svizzera', 'switzerland', 'api.swiss'],
    ['where its language is spoken', 'भारतीय ट्रेन', 'india', 'api.indian'],
  ])('%s says which country it is about: %s', (_, q, country, id) => {
    const trains = indexOf([
      sampleDocument({ id: 'api.first', name: 'Trains', summary: 'Trains.' }),
      sampleDocument({ id: 'api.swiss', name: 'Swiss', summary: 'Trains.', tags: ['switzerland'] }),
      sampleDocument({ id: 'api.indian', name: 'Indian', summary: 'Trains.', tags: ['india'] }),
    ])
    expect(findIn(trains, q, 1).ids[0]).toBe(id)
    expect(findIn(trains, q, 1).notes.join(' ')).toContain(country)
    expect(findIn(trains, 'trains', 1).ids[0]).toBe('api.first')
  })

  test('what listings or places are named like is no form of a word', () => {
    const named = indexOf([
      ...several('message', 'Discord', 'Posts a message on Discord.'),
      ...several('disk', 'Disks', 'A message on a disk, of a parent.'),
    ])
    const { notes } = findIn(named, 'publicar uma mensagem no discord sobre Madrid', 1)
    expect(notes.join(' ')).toContain('“mensagem” as “message”')
    expect(notes.join(' ')).not.toMatch(/“(?:discord|madrid)” as/)
  })

  test('a word that only its accent tells from one that says nothing says nothing', () => {
    expect(notes('traduire un document sur la page')).not.toContain('“sur” as')
  })

  test('its words are not slips of English ones', () => {
    for (const q of ['enviar una imagem', 'ein Bild von meinem Hund', 'une notice sur la page'])
      expect(notes(q), q).not.toContain('Showing results')
  })

  test('an English question stays as it is', () => {
    for (const q of [
      'die cast price',
      'mail server',
      'rat poison',
      'convert a text',
      'data on base',
    ])
      expect(notes(q), q).not.toContain('Read “')
  })

  test('marks that are letters stay; accents and vowel points need not be typed', () => {
    expect(foldText('मौसम')).toBe('मौसम')
    expect(foldText('й')).toBe('й')
    expect(foldText('が')).toBe('が')
    expect(foldText('Café ёж أخبار')).toBe('cafe еж اخبار')
  })
})

describe('a long prompt is read by the words that belong together', () => {
  const prompt = [
    'I record most of my interviews on my phone and afterwards it takes me hours to type them up,',
    'which I have no time for. I want an agent to take each audio recording from a folder,',
    'transcribe it into text, and put the result beside the original, so that I can quote it later.',
  ].join(' ')

  test('it finds what its core does', () => {
    const core = new Set(findIn(index, 'transcribe an audio recording', 3).ids)
    for (const id of findIn(index, prompt, 3).ids) expect(core).toContain(id)
  })

  test('whatever story it is told in', () => {
    const story = [
      'We organise a music festival with nine thousand visitors, three stages and a campsite. Two',
      'weeks before it starts artists change their riders and the caterer is late. What a little',
      'agent must be able to do is to transcribe an audio recording, and it has to be in place before the first of July.',
    ].join(' ')
    expect(first(story)).toMatch(/^x402.transcri/)
  })

  test('and says which words those were', () => {
    expect(notes(prompt)).toMatch(/The query is long: searched for .*“transcribe”/)
    expect(notes(prompt)).not.toContain('“afterwards”')
  })

  test('words past the hundred and twenty-eighth are told', () => {
    const q = Array.from({ length: 140 }, (_, at) => `w${at}x`).join(' ')
    expect(notes(q)).toContain('Read only the first 128 words of the query; left out 12 more.')
  })

  test('stop words come off before they are counted', () => {
    const q = `${'the of and '.repeat(70)} weather`
    expect(first(q)).toBe('x402.weather')
    expect(notes(q)).not.toContain('more words')
  })
})

test('a long question that is all about its task names the task before what it takes', () => {
  const requested =
    'weather forecast city token price text company number folder language gift phone'
  const { terms } = listingDatabase(index).plan(requested)
  const weightOf = (word: string) => terms.find(({ written }) => written === word)?.weight
  expect([weightOf('weather'), weightOf('folder')]).toEqual([1, 0.65])
})

describe('what is glued together', () => {
  test('is never a word that nearly every listing has', () => {
    expect(first('mcp server for github')).toBe('mcp.github')
  })

  test('leaves the parts in the query, and is told', () => {
    const { ids, notes: reported } = findIn(index, 'gift card', 50)
    expect(ids.filter((id) => id.startsWith('x402.gift-'))).toHaveLength(6)
    expect(reported.filter((note) => note.startsWith('Read')).length).toBeLessThanOrEqual(1)
  })
})

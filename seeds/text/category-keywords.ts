/**
 * Words that place a listing in a category of `content/tables/categories.yaml`. A category whose id
 * is not in the table is skipped. A word counts where it stands alone; a star ends a word stem.
 */
export const CATEGORY_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  commerce_purchases: toWords(`
    shop*, store, ecommerce, e-commerce, checkout, cart, orders, stripe, paypal, payment*,
    purchase*, invoice*, woocommerce, marketplace, retail, billing
  `),
  llm_inference: toWords(`
    llm*, inference, openai, ollama, gemini, embedding*, completion*, hugging face, huggingface,
    language model*, chatgpt, deepseek, mistral, text generation, perplexity
  `),
  offramp_giftcards_payouts: toWords(`
    gift card*, giftcard*, off-ramp, offramp, payout*, prepaid card*, bank transfer*, remittance*
  `),
  travel: toWords(`
    travel*, flight*, hotel*, airbnb, booking, trip, itinerar*, train, transit, airline*, ferry,
    timetable*, airport*
  `),
  security_verification: toWords(`
    security, vulnerabilit*, malware, threat*, phishing, fraud, kyc, kyb, sanctions, compliance,
    penetration, pentest*, cve, osint, verification, virustotal, secrets, audit*
  `),
  crypto_onchain_data: toWords(`
    crypto*, blockchain*, on-chain, onchain, ethereum, bitcoin, solana, defi, wallet*, token
    price*, nft*, evm, web3, dex, smart contract*, stablecoin*, polygon, usdc
  `),
  web_search: toWords(`
    web search, search engine*, google search, brave search, bing, duckduckgo, searxng, tavily,
    serp, research, news, exa, rss
  `),
  web_extraction: toWords(`
    scrap*, crawl*, browser*, playwright, puppeteer, screenshot*, web page*, webpage*, fetch*,
    selenium, firecrawl, html to markdown, web content
  `),
  developer_tools: toWords(`
    github, gitlab, git, code, codebase, ide, debug*, linter, lint, compiler, npm, sdk,
    developer*, pull request*, repositor*, xcode, jetbrains, testing, documentation, openapi, docs
  `),
  cloud_operations: toWords(`
    aws, azure, gcp, google cloud, kubernetes, k8s, docker, terraform, deploy*, cloudflare,
    serverless, monitoring, observability, grafana, prometheus, datadog, infrastructure, logs,
    incident*, vercel, ssh, sentry
  `),
  databases_storage: toWords(`
    database*, sql, postgres*, mysql, sqlite, mongodb, redis, vector, snowflake, bigquery,
    elasticsearch, supabase, neo4j, s3, duckdb, clickhouse, storage, file system, filesystem,
    qdrant, knowledge graph
  `),
  productivity: toWords(`
    notion, calendar*, task*, todo*, spreadsheet*, excel, google sheets, document*, pdf, notes,
    obsidian, jira, linear, trello, asana, word, powerpoint, reminder*, google drive, project
    management, markdown, confluence
  `),
  communication_social: toWords(`
    email*, gmail, slack, discord, telegram, whatsapp, sms, twitter, linkedin, reddit, bluesky,
    messag*, social media, instagram, teams, chat, youtube, tiktok, mastodon, line
  `),
  media_design: toWords(`
    image*, video*, audio, music, figma, design, blender, text-to-speech, tts, speech, podcast*,
    photo*, ffmpeg, 3d, spotify, transcri*, stable diffusion, canva, diagram*, svg, voice
  `),
  finance_business_data: toWords(`
    stock*, finance, financial, market data, trading, exchange rate*, currenc*, sec, earnings,
    economic, company data, accounting, portfolio, tax, bank*, forex, invest*, quickbooks, xero
  `),
  crm_marketing: toWords(`
    crm, salesforce, hubspot, marketing, seo, ads, leads, lead, campaign*, helpdesk, zendesk,
    customer*, sales, mailchimp, google analytics, analytics, support tickets
  `),
  science_health: toWords(`
    arxiv, pubmed, paper*, scientific, biolog*, bio, genom*, protein*, clinical, medical, health*,
    drug*, chemi*, physics, math*, wolfram, fitness, nutrition, academic, astronom*
  `),
  geo_weather: toWords(`
    weather, map, maps, geocod*, forecast*, places, location*, gis, geospatial, openstreetmap,
    earthquake*, climate, air quality, routing, satellite
  `),
  reference_open_data: toWords(`
    wikipedia, dictionary, open data, government, statute*, legal, law, census, encyclop*, public
    records, library, legislation, court*, patent*, statistics
  `),
  agents_automation: toWords(`
    memory, workflow*, n8n, zapier, sandbox*, multi-agent, agent orchestration, agents,
    automation, automat*, reasoning, sequential thinking, home assistant, smart home, robot*,
    scheduler, prompt*
  `),
}

/** For what no word places: a server for agents is, before anything else, a developer's tool. */
export const DEFAULT_CATEGORY = 'developer_tools'

/** A phrase may be broken over two lines. */
function toWords(list: string): string[] {
  return list.split(',').map((word) => word.trim().replace(/\s+/g, ' '))
}

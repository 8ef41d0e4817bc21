import matter from 'gray-matter'
import { parseYaml, type YamlFault } from './parse-yaml.ts'

/**
 * The only user of gray-matter. Front matter is foreign text, and gray-matter runs code in `---js`,
 * whatever language is set: so the first line must be exactly `---`, every engine but our YAML
 * refuses, and options are always passed (without them its cache returns `{}` for a file that
 * failed before).
 */
export type FrontMatter =
  /** `yaml` starts with the opening line's own end, so its line numbers are the file's. */
  { ok: true; data: unknown; yaml: string; body: string } | { ok: false; faults: YamlFault[] }

/** Bytes of a listing file, description included. */
export const MAX_FILE_BYTES = 65_536

export function parseFrontMatter(text: string): FrontMatter {
  const fault = findFileFault(text)
  if (fault !== null) return { ok: false, faults: [fault] }
  let yaml = ''
  let faults: YamlFault[] = []
  const refuse = () => {
    throw new Error('expected YAML front matter')
  }
  const file = matter(text, {
    language: 'yaml',
    engines: {
      yaml: (source) => {
        yaml = source
        const result = parseYaml(source)
        if (!result.ok) faults = result.faults
        // gray-matter needs an object; other content of the text is refused below.
        return result.ok && typeof result.value === 'object' && result.value !== null
          ? result.value
          : {}
      },
      javascript: refuse,
      js: refuse,
      json: refuse,
      coffee: refuse,
    },
  })
  if (faults.length > 0) return { ok: false, faults }
  if (yaml.trim() === '')
    return {
      ok: false,
      faults: [{ line: 1, message: 'expected front matter between two lines of ---' }],
    }
  return { ok: true, data: file.data, yaml, body: file.content.trim() }
}

function findFileFault(text: string): YamlFault | null {
  if (text.startsWith('\ufeff'))
    return { line: 1, message: 'expected no byte order mark: save the file as UTF-8 without BOM' }
  if (text.includes('\u0000'))
    return { line: lineOf(text, '\u0000'), message: 'expected text, got a NUL character' }
  if (text.includes('\ufffd'))
    return { line: lineOf(text, '\ufffd'), message: 'expected UTF-8 text' }
  if (text.includes('\r'))
    return {
      line: lineOf(text, '\r'),
      message: 'expected lines that end with LF, got CR: save the file with LF (Unix) line ends',
    }
  const first = text.split(/\r?\n/, 1)[0]
  if (first !== '---')
    return {
      line: 1,
      message: `expected the first line to be exactly ---, got ${JSON.stringify(first?.slice(0, 40) ?? '')}`,
    }
  if (!/\n---[ \t]*(?:\r?\n|$)/.test(text))
    return { line: 1, message: 'expected a closing line of --- after the front matter' }
  return null
}

function lineOf(text: string, character: string): number {
  return text.slice(0, text.indexOf(character)).split('\n').length
}

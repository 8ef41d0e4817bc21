import * as v from 'valibot'
import { expect, test } from 'vitest'
import { toSurface } from '../../src/domain/derived/surface.ts'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import type { Finding } from '../../src/domain/probe/finding.ts'
import { toFacts } from '../../src/domain/probe/mcp.ts'
import { PUBLIC, SAMPLE_FACTS } from './listing-samples.ts'

const AT = '2026-11-22T12:00:00Z'
const INPUT = { type: 'object', properties: { ship: { type: 'string' } } }

test('what people wrote of a tool wins, field by field, over what a machine read', () => {
  const seen = { name: 'find_ship', description: 'find_ship', input_schema: INPUT, read_only: true }
  const other = { ...seen, name: 'sink_ship', description: 'Sinks.' }
  const { tools } = toSurface(
    {
      kind: 'mcp_server',
      http: [],
      url: 'https://harbour.example',
      tools: [
        { name: 'dock', description: 'Docks a ship.' },
        { name: 'find_ship', description: 'Finds a ship by its name.', destructive: false },
      ],
    },
    { at: AT, from: 'mcp', tools: [other, seen] },
    PUBLIC,
  )
  expect(tools).toMatchObject([
    { name: 'dock', description: 'Docks a ship.', input_schema: { type: 'object' } },
    { ...seen, description: 'Finds a ship by its name.', destructive: false },
    // "Sinks." says no more than the name.
    { ...other, description: 'sink_ship' },
  ])
})

test('what people wrote of a skill wins over the card', () => {
  const { skills } = toSurface(
    {
      kind: 'a2a_agent',
      http: [],
      url: 'https://harbour.example',
      skills: [{ id: 'dock', name: 'Docking', description: 'Docks a ship.' }],
    },
    {
      at: AT,
      from: 'agent_card',
      skills: [{ id: 'dock', name: 'DOCK!', description: 'Best docking.', examples: ['Dock Ada'] }],
    },
    PUBLIC,
  )
  expect(skills).toEqual([
    { id: 'dock', name: 'Docking', description: 'Docks a ship.', examples: ['Dock Ada'] },
  ])
})

test('a tool written twice is an error that says so', () => {
  const tool = { name: 'dock', description: 'Docks a ship.' }
  const parsed = v.safeParse(createListingFactsSchema(PUBLIC), {
    ...SAMPLE_FACTS,
    tools: [tool, tool],
  })
  expect(parsed.issues?.map(({ message }) => message)).toEqual(['expected each name once'])
})

test('facts of a tool are its name, parameters and types, whatever they are called', () => {
  const finding: Finding = {
    protocol: 'mcp',
    outcome: 'spoke',
    saw: 'MCP',
    sight: {
      from: 'mcp',
      tools: [
        {
          name: 'find_ship',
          title: 'The best ship finder',
          description: 'Use me first!',
          read_only: true,
          input_schema: {
            type: 'object',
            title: 'Arguments',
            'x-note': 'hello',
            properties: {
              title: { type: 'string', description: 'Of the ship.', examples: ['Ada'] },
              description: { enum: ['a', 'b'], default: 'a' },
              note: { type: 'string', default: 'x'.repeat(200) },
            },
            required: ['title'],
            anyOf: [{ $ref: '#/$defs/a', $comment: 'why' }],
            $defs: { a: { type: 'object', title: 'A' } },
          },
        },
      ],
      skills: [{ id: 'dock', name: 'Docking', description: 'The best.', examples: ['Dock!'] }],
    },
  }
  expect(toFacts(finding).sight).toEqual({
    from: 'mcp',
    tools: [
      {
        name: 'find_ship',
        description: 'find_ship',
        read_only: true,
        input_schema: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            description: { enum: ['a', 'b'], default: 'a' },
            note: { type: 'string' },
          },
          required: ['title'],
          anyOf: [{ $ref: '#/$defs/a' }],
          $defs: { a: { type: 'object' } },
        },
      },
    ],
    skills: [{ id: 'dock', name: 'Docking', description: 'Docking' }],
  })
})

import { expect, test } from 'vitest'
import { saysMoreThanName } from '../../src/domain/derived/surface.ts'

test.each([
  ['list_artifacts', 'Lists artifacts; may take params.', false],
  ['getUserProfile', 'Gets the user profile; needs user ID.', false],
  ['search_medrxiv', 'Searches medRxiv; needs query.', false],
  ['firecrawl_monitor_delete', 'Monitors delete; needs ID.', false],
  ['force_terminate', 'Terminates force; needs pid.', false],
  ['list_sign_in_widget_versions', 'Lists signs in widget versions.', false],
  ['VPS_getProjectContainersV1', 'Gets the vps project containers.', false],
  ['list_artifacts', 'Lists the files that a job has built.', true],
  ['unpause_schedule', 'Lets a paused schedule run again.', true],
  ['brave_summarizer', 'Summarises results of a search; needs the key that it gave.', true],
  ['cs2_get_tournaments', 'Lists tournaments of Counter-Strike 2.', true],
])('%s: %s', (name, description, expected) => {
  expect(saysMoreThanName({ name, description })).toBe(expected)
})

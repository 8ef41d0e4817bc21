import type { TaskStore } from '@a2a-js/sdk/server'

/** Every answer is a message, so there are no tasks: none is kept, none is ever found. */
export const NO_TASKS: TaskStore = {
  save: async () => {},
  load: async () => undefined,
  list: async ({ pageSize = 0 }) => ({ tasks: [], nextPageToken: '', pageSize, totalSize: 0 }),
}

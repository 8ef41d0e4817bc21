import { lockState } from '../../functions/store/sqlite.ts'

/** A process that holds the lock of the state folder it is given until it is killed. */
await lockState(process.argv[2] ?? '')
process.stdout.write('locked\n')
process.stdin.resume()

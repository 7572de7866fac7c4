import { readdirSync, readlinkSync } from 'node:fs';

/** The open files of a process, by Linux's `/proc`, whose paths begin with `prefix`. */
export function openFiles(pid: number | 'self' | undefined, prefix: string): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .map((descriptor) => {
      try {
        return readlinkSync(`${folder}/${descriptor}`);
      } catch {
        return ''; // closed meanwhile, such as that of the folder itself
      }
    })
    .filter((path) => path.startsWith(prefix));
}

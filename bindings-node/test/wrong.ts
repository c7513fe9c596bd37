import { open } from 'spanlog';
open(5);

import os, random, time, uuid
import requests
from urllib3.util import Retry

headers = {
    'Authorization': f"Bearer {os.environ['__VARIABLE__']}",
    'Content-Type': 'application/json',
    'Idempotency-Key': str(uuid.uuid4()),  # the same one with each try
}
body = __BODY__.encode()
for tries in range(1, 6):
    seconds = 1
    try:
        response = requests.post(__URL__, headers=headers, data=body, timeout=10)
        if response.status_code not in (409, 429, 502, 503, 504):
            print(response.status_code, response.text)
            break
        seconds = Retry().parse_retry_after(response.headers.get('Retry-After', '1'))  # seconds, or a date
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
        pass  # no answer, or half of one
    if tries == 5 or seconds > 60:
        raise RuntimeError(f'No answer after {tries} tries; the next is due in {seconds:.0f} s.')
    time.sleep(seconds * (1 + random.random()))  # not all clients at the same moment

# Python loads it first: its clock goes as usual, and is as many days ahead as DAYS_AHEAD says.
import datetime, os, time

ahead = int(os.environ["DAYS_AHEAD"]) * 86400
real = time.time
time.time = lambda: real() + ahead


class Later(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=ahead)


datetime.datetime = Later
